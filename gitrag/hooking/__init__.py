"""Git's hooks: the scripts, their installation into a repository, and what they run."""
