"""Runs a program in a pseudo-terminal, and tells every byte that it wrote there.

argv: JSON with columns, rows and actions, then the program. An action waits for a text in the output, then does
something: {"after": "text", "resize": 40} or {"after": "text", "type": "\u0003"}. With "asks": true, it first prints a
line of JSON, {"asked": the output so far as base64}, and waits for a line on standard input. In the end it prints JSON:
the output as base64, where in it each action was done, and how the program ended.
"""
import base64, fcntl, json, os, pty, select, struct, sys, termios, time

options = json.loads(sys.argv[1])


def size(fd, columns):
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", options["rows"], columns, 0, 0))


pid, fd = pty.fork()
if pid == 0:
    size(0, options["columns"])
    os.execvp(sys.argv[2], sys.argv[2:])

output = b""
actions = list(options.get("actions", []))
done = []
seen = 0
deadline = time.time() + options.get("seconds", 60)
while time.time() < deadline:
    ready, _, _ = select.select([fd], [], [], 0.5)
    if not ready:
        continue
    try:
        chunk = os.read(fd, 65536)
    except OSError:
        break
    if not chunk:
        break
    output += chunk
    while actions and actions[0]["after"].encode() in output[seen:]:
        action = actions.pop(0)
        seen = len(output)
        done.append(seen)
        if action.get("asks"):
            print(json.dumps({"asked": base64.b64encode(output).decode()}), flush=True)
            sys.stdin.readline()
        if "resize" in action:
            size(fd, action["resize"])
        if "type" in action:
            os.write(fd, action["type"].encode())
else:
    os.kill(pid, 9)
_, status = os.waitpid(pid, 0)
json.dump(
    {
        "output": base64.b64encode(output).decode(),
        "done": done,
        "code": os.WEXITSTATUS(status) if os.WIFEXITED(status) else None,
        "signal": os.WTERMSIG(status) if os.WIFSIGNALED(status) else None,
    },
    sys.stdout,
)
