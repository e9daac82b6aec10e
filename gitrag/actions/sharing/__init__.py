"""Share vectors with a team: pull, push, look, check, tidy up."""
