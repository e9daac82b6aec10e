"""From texts to vectors: all-MiniLM-L6-v2, fetched once, converted here, run by onnxruntime.

``weights`` fetches, verifies and keeps the model; ``graph`` builds its ONNX graph; ``encoder`` runs it;
``text`` says what of a chunk, or of a path, is embedded.
"""
