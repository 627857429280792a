// The part of the record form that asks for a program: a .cu file, what to give it, and which of its launches
// to record. What is left empty records the first launch of each kernel, whole.
//
//   Program    [path of a .cu file         ]
//   Arguments  [as on a command line       ]
//   Kernel     [every kernel               ]
//   Launches   [first of each kernel       ]
//   Blocks     [all of them                ]
//   Device     [the GPU here, or an H200   ]
//   Flags      [of the compiler, and files ]
//   [ Compile, run and record ]
#include "app/draw/widgets.h"
#include "app/input/overlays.h"

namespace tilescope::input {
namespace {

// ImGui writes into the string itself, which grows as it asks.
int grow(ImGuiInputTextCallbackData* data) {
    if (data->EventFlag != ImGuiInputTextFlags_CallbackResize) return 0;
    auto& text = *static_cast<std::string*>(data->UserData);
    text.resize(static_cast<size_t>(data->BufTextLen));
    data->Buf = text.data();
    return 0;
}

// True where Enter was pressed in it.
bool field(draw::Ui& ui, const char* name, const char* id, const char* when_empty, std::string& text) {
    ImGui::AlignTextToFramePadding();
    ImGui::TextUnformatted(name);
    ImGui::SameLine(ui.px(112));
    ImGui::SetNextItemWidth(-1);
    return ImGui::InputTextWithHint(id, when_empty, text.data(), text.capacity() + 1,
                                    ImGuiInputTextFlags_CallbackResize | ImGuiInputTextFlags_EnterReturnsTrue,
                                    grow, &text);
}

}  // namespace

void program_fields(Ui<State>& ui) {
    session::ProgramOrder& order = ui.state.form.program;
    bool go = field(ui, "Program", "##path", "path of a .cu file", order.path);
    go = field(ui, "Arguments", "##arguments", "as on a command line", order.arguments) || go;
    go = field(ui, "Kernel", "##kernel", "every kernel", order.kernel) || go;
    go = field(ui, "Launches", "##launches", "first of each kernel; 2, 5; all", order.launches) || go;
    go = field(ui, "Blocks", "##blocks", "all; x0:x1,y0:y1", order.blocks) || go;
    go = field(ui, "Device", "##device", "the GPU here, or an H200", order.device) || go;
    go = field(ui, "Flags", "##flags", "-O2 -DN=64 other.cu", order.flags) || go;
    if (draw::primary_button(ui, "Compile, run and record", {-1, ui.px(34)}) || go) {
        session::run_program(ui.session, order);
        if (ui.session.message.empty()) ui.state.form.open = false;
    }
}

}  // namespace tilescope::input
