/** The socket in a session's directory to which the program and the workers connect. */
export const SOCKET = "supervisor.sock";
/** The directory of heap profiles in a session's state directory. */
export const PROFILES = "profiles";
