# The kernels that ship and the road from a plan to a recording.
tilescope_part(kernels LINK tilescope_export)
