// Type and shapes of ImGui's draw lists: a colour, covered as the atlas of the fonts says.
uniform sampler2D u_type;
in vec2 v_texel;
in vec4 v_color;
out vec4 o_color;

void main() { o_color = v_color * texture(u_type, v_texel); }
