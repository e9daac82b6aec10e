"""The call graph: facts per blob, resolved over a view's files into edges, drawn as a graph."""
