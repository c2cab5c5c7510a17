"""What the tests are made of: hand-made producers and consumers, tables of dtypes, other processes.

| module    | holds                                                                              |
|-----------|------------------------------------------------------------------------------------|
| abi       | the DLPack structs for ctypes                                                      |
| capsules  | names of capsules, the descriptors in them, a consumer                             |
| producers | producers with every field under control, which count their deleter's calls        |
| exchange  | types with a C exchange API table, and a reader of such tables                     |
| dtypes    | the element types: everyday, rare, impossible                                      |
| layouts   | hypothesis strategies: arrays with random shape, strides, offset and flags         |
| processes | fresh interpreters, forked children, threads                                       |
"""
