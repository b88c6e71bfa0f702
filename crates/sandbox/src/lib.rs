//! Runs units' scripts in worker processes with limits on time, memory and calls, seeing only the host functions they are handed.
