"""The machine gitrag runs on: files, locks, processes, the log, what has to be installed."""
