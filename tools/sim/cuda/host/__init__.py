"""Names that the host calls: arrays, streams, the device, and a launch with its arguments."""
