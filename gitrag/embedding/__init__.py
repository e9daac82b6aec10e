"""From texts to vectors: all-MiniLM-L6-v2, fetched once, converted here, run by onnxruntime.

``text`` says what of a chunk, or of a path, is embedded; ``encoder`` gives it its vector. ``weights`` puts
the model on the machine: from ``sources``, through ``graph``, described by a ``manifest``.
"""
