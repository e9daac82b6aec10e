"""Turn texts into vectors: all-MiniLM-L6-v2, downloaded once, converted here, run by onnxruntime.

``text`` selects what of a chunk or a path is embedded; ``encoder`` computes the vector. ``fetching``
installs the model: from ``sources``, through ``onnx_model``, described by a ``manifest``.
"""
