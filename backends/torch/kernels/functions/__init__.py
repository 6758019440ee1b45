"""What kernels call: functions of tensors, one family a file. A scalar is a tensor without axes,
or a Python number where it is known.

Each file imports PyTorch and nothing else, and no two have a name in common, so that generated
source which stands alone can hold them whole.
"""
