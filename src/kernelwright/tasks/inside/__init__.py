"""What runs next to the task's own code, inside a sandboxed child; imports PyTorch."""
