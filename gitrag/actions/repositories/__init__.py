"""Several repositories: which there are on this machine, and one question asked of many."""
