/**
 * Asks a Node process that hangs where it is, through its inspector, which answers from a thread of its own: a process
 * in an endless loop has a stack, another one a list of what it waits for.
 */

/** The options with which a process can be asked: its inspector, when a signal starts it, takes a free port. */
export const HANG_REPORT_ARGS: readonly string[] = ['--inspect-port=127.0.0.1:0'];

/** A process that is stopped, or in a loop of native code, never answers. */
const PATIENCE_MS = 5_000;
/** A process without a stack for this long waits, and has no timer that is due. */
const IDLE_MS = 1_000;
const EXPRESSION = `process.getActiveResourcesInfo().sort().join(', ')`;

interface CallFrame {
  readonly functionName: string;
  readonly location: { readonly scriptId: string; readonly lineNumber: number };
}

interface InspectorMessage {
  readonly id?: number;
  readonly method?: string;
  readonly params?: {
    readonly callFrames?: readonly CallFrame[];
    readonly scriptId?: string;
    readonly url?: string;
  };
  readonly result?: { readonly result?: { readonly value?: string } };
}

/** Resolves to some lines of text. `address` resolves to what the process prints then: "Debugger listening on ws://…". */
export async function hangReport(pid: number, address: Promise<string>): Promise<string> {
  const { promise: late, resolve } = Promise.withResolvers<string>();
  const timer = setTimeout(
    () => resolve(`it does not say where it is within ${PATIENCE_MS} ms`),
    PATIENCE_MS,
  );
  try {
    process.kill(pid, 'SIGUSR1');
    return await Promise.race([address.then((url) => ask(url)), late]);
  } catch (error) {
    return `it does not say where it is: ${String(error)}`;
  } finally {
    clearTimeout(timer);
  }
}

async function ask(url: string): Promise<string> {
  const socket = new WebSocket(url);
  const waits = Promise.withResolvers<string>();
  const stack = Promise.withResolvers<string>();
  const urls = new Map<string, string>();
  const send = (id: number, method: string, params = {}): void =>
    socket.send(JSON.stringify({ id, method, params }));
  socket.addEventListener('error', () => waits.reject(new Error('its inspector refuses')));
  socket.addEventListener('open', () => {
    send(1, 'Debugger.enable');
    send(2, 'Runtime.evaluate', { expression: EXPRESSION });
  });
  socket.addEventListener('message', ({ data }) => {
    const { id, method, params, result } = JSON.parse(String(data)) as InspectorMessage;
    if (method === 'Debugger.scriptParsed') urls.set(params!.scriptId!, params!.url!);
    else if (method === 'Debugger.paused')
      stack.resolve(params!.callFrames!.map((frame) => lineOf(frame, urls)).join('\n'));
    else if (id === 2) waits.resolve(result?.result?.value || 'nothing');
  });
  try {
    const waitsFor = `it waits for: ${await waits.promise}`;
    send(3, 'Debugger.pause');
    const idle = setTimeout(() => stack.resolve('  in no function'), IDLE_MS);
    const here = await stack.promise;
    clearTimeout(idle);
    return `${waitsFor}\nit is here:\n${here}`;
  } finally {
    socket.close();
  }
}

function lineOf({ functionName, location }: CallFrame, urls: ReadonlyMap<string, string>): string {
  const { scriptId, lineNumber } = location;
  return `  at ${functionName || '<anonymous>'} (${urls.get(scriptId)}:${lineNumber + 1})`;
}
