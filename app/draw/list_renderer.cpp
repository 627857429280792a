#include "app/draw/list_renderer.h"

#include <cstddef>
#include <cstdint>
#include <utility>

#include "app/draw/program.h"
#include "app/platform/gl.h"

namespace tilescope::draw {

struct ListRenderer::State {
    GLuint program = 0, type = 0, array = 0, vertices = 0, indices = 0;
    GLint scale = 0;  // where the uniform is

    ~State() {
        glDeleteProgram(program);
        glDeleteTextures(1, &type);
        glDeleteVertexArrays(1, &array);
        glDeleteBuffers(1, &vertices);
        glDeleteBuffers(1, &indices);
    }

    // All that a draw call needs and a grid's callback may have changed.
    void prepare(const ImVec2& canvas) const {
        glEnable(GL_BLEND);
        glBlendEquation(GL_FUNC_ADD);
        glBlendFuncSeparate(GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA, GL_ONE, GL_ONE_MINUS_SRC_ALPHA);
        glEnable(GL_SCISSOR_TEST);
        glUseProgram(program);
        glUniform2f(scale, 2 / canvas.x, 2 / -canvas.y);
        glActiveTexture(GL_TEXTURE0);
        glBindVertexArray(array);
        glBindBuffer(GL_ARRAY_BUFFER, vertices);
    }

    // Indices count from this vertex on.
    static void begin_at(size_t vertex) {
        const auto attribute = [&](GLuint index, GLint count, GLenum type, bool unit, size_t offset) {
            glVertexAttribPointer(index, count, type, unit, sizeof(ImDrawVert),
                                  reinterpret_cast<const void*>(vertex * sizeof(ImDrawVert) + offset));
        };
        attribute(0, 2, GL_FLOAT, false, offsetof(ImDrawVert, pos));
        attribute(1, 2, GL_FLOAT, false, offsetof(ImDrawVert, uv));
        attribute(2, 4, GL_UNSIGNED_BYTE, true, offsetof(ImDrawVert, col));
    }

    void draw(const ImDrawList& list, const ImVec2& canvas) const {
        glBufferData(GL_ARRAY_BUFFER, list.VtxBuffer.size_in_bytes(), list.VtxBuffer.Data, GL_STREAM_DRAW);
        glBufferData(GL_ELEMENT_ARRAY_BUFFER, list.IdxBuffer.size_in_bytes(), list.IdxBuffer.Data,
                     GL_STREAM_DRAW);
        begin_at(0);
        size_t first = 0;
        for (const ImDrawCmd& command : list.CmdBuffer) {
            if (command.UserCallback == ImDrawCallback_ResetRenderState) {
                prepare(canvas);
                continue;
            }
            if (command.UserCallback != nullptr) {
                command.UserCallback(&list, &command);
                continue;
            }
            const ImVec4& clip = command.ClipRect;
            if (clip.z <= clip.x || clip.w <= clip.y) continue;
            glScissor(static_cast<GLint>(clip.x), static_cast<GLint>(canvas.y - clip.w),
                      static_cast<GLsizei>(clip.z - clip.x), static_cast<GLsizei>(clip.w - clip.y));
            if (std::exchange(first, command.VtxOffset) != command.VtxOffset) begin_at(first);
            glBindTexture(GL_TEXTURE_2D, static_cast<GLuint>((intptr_t)command.GetTexID()));
            glDrawElements(GL_TRIANGLES, static_cast<GLsizei>(command.ElemCount),
                           sizeof(ImDrawIdx) == 2 ? GL_UNSIGNED_SHORT : GL_UNSIGNED_INT,
                           reinterpret_cast<const void*>(command.IdxOffset * sizeof(ImDrawIdx)));
        }
    }
};

Result<std::unique_ptr<ListRenderer>> ListRenderer::create() {
    auto state = std::make_unique<State>();
    const auto program = link_program("lists");
    if (!program) return program.error();
    state->program = *program;
    state->scale = glGetUniformLocation(*program, "u_scale");
    glGenTextures(1, &state->type);
    glGenVertexArrays(1, &state->array);
    glGenBuffers(1, &state->vertices);
    glGenBuffers(1, &state->indices);
    glBindVertexArray(state->array);
    glBindBuffer(GL_ELEMENT_ARRAY_BUFFER, state->indices);
    for (GLuint attribute = 0; attribute < 3; ++attribute) glEnableVertexAttribArray(attribute);
    glBindVertexArray(0);
    ImGui::GetIO().BackendFlags |= ImGuiBackendFlags_RendererHasVtxOffset;
    return std::unique_ptr<ListRenderer>(new ListRenderer(std::move(state)));
}

ListRenderer::ListRenderer(std::unique_ptr<State> state) : state_(std::move(state)) {}
ListRenderer::~ListRenderer() = default;

void ListRenderer::upload_type() {
    ImFontAtlas& atlas = *ImGui::GetIO().Fonts;
    unsigned char* pixels = nullptr;
    int width = 0, height = 0;
    atlas.GetTexDataAsRGBA32(&pixels, &width, &height);
    glBindTexture(GL_TEXTURE_2D, state_->type);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_LINEAR);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_LINEAR);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA, width, height, 0, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
    atlas.SetTexID((ImTextureID)(intptr_t)state_->type);  // a pointer or a number, as ImGui's version has it
}

void ListRenderer::draw(const ImDrawData& data) {
    const ImVec2 canvas = data.DisplaySize;  // framebuffer pixels
    if (canvas.x <= 0 || canvas.y <= 0) return;
    glViewport(0, 0, static_cast<GLsizei>(canvas.x), static_cast<GLsizei>(canvas.y));
    state_->prepare(canvas);
    for (int list = 0; list < data.CmdListsCount; ++list) state_->draw(*data.CmdLists[list], canvas);
    glDisable(GL_SCISSOR_TEST);
}

}  // namespace tilescope::draw
