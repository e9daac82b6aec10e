"""The machine gitrag runs on: files, locks, processes, the log, prerequisites."""
