"""The array on the device, its types and shapes, and the launches that its memory is read and written by."""
