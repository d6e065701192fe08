"""A compiler backend that lives outside of PyTorch."""
