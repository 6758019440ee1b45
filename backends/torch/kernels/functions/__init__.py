"""What kernels call: functions of tensors, one family a file.

Each file imports PyTorch and nothing else, and no two have a name in common, so that generated
source which stands alone can hold them whole.
"""
