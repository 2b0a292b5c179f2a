"""The kinds of drafter, which of them fit a target, and the flags that run one."""
