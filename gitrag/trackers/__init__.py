"""Issues of trackers as files: one layer that knows the trackers' interfaces, and nothing else does."""
