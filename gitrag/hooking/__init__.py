"""Git's hooks: the scripts and their installation into a repository."""
