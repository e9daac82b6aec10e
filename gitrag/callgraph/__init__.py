"""Who calls whom: facts a blob, resolved over a view's files into edges, drawn as a graph."""
