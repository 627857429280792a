// There is no CUDA driver in a browser: the interpreter records.
#include "kernels/gpu/driver.h"
#include "kernels/gpu/record_gpu.h"

namespace tilescope::gpu {
namespace {

const Error kNone{"a browser reaches no GPU for computing; the installed program records on one"};

}  // namespace

Result<std::vector<DeviceInfo>> devices() { return kNone; }
std::string describe(const DeviceInfo& device) { return device.name; }
Result<std::shared_ptr<Device>> Device::open(int) { return kNone; }
Device::~Device() = default;
Result<trace::Trace> record_gpu(Device&, const kernels::Plan&, const GpuRecordOptions&) { return kNone; }

}  // namespace tilescope::gpu
