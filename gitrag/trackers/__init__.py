"""Issues of trackers as files; nothing outside this package knows a tracker's API."""
