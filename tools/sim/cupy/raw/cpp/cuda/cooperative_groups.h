#error Cooperative groups are not simulated: __syncthreads(), __syncwarp() and the shuffles do the same within a block.
