/** The file in a session's directory by which the program and the workers come in. */
export const SOCKET = "supervisor.sock";
