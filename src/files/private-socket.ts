/** Connects to a socket in a private directory through its descriptor, so the listener is this user's. */
import { connect, type Socket } from "node:net";
import { PrivateDirectory } from "./private-directory.ts";

export function connectInside(directory: string, name: string): Socket {
  const opened = PrivateDirectory.open(directory);
  const socket = connect(opened.at(name));
  let isOpen = true;
  const close = () => {
    if (isOpen) opened.close();
    isOpen = false;
  };
  socket.once("connect", close);
  socket.once("close", close);
  return socket;
}
