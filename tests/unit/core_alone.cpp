// The whole of core/ as one program: cmake/tests.cmake links every object of its libraries into this, with
// nothing else. That it links is the proof that core needs neither OpenGL nor CUDA nor ImGui;
// cmake/core_alone.cmake then looks at what the program asks for.
int main() { return 0; }
