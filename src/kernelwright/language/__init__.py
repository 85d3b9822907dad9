"""What a kernel program imports as `tl`."""
