"""The onnx family of TORCH_LOGS names; everything is in `plugin` and `names`."""
