/**
 * Client of the running agent's control socket: one connection carries one request and one response. The shapes
 * of the protocol are in `#domain`; the agent implements the server.
 */
import { connect } from 'node:net';
import { FrontdoorError } from '#base';
import { LineDecoder } from '#domain';
import {
  AGENT_SOCKET_MAX_ANSWER_BYTES,
  agentEndpoint,
  checkAgentAnswer,
  checkSocketPath,
  encodeAgentRequest,
  type AgentRequest,
  type AgentResults,
} from '#domain/agent-shapes';

/** Time from connecting to the response. It is longer than the agent itself waits for a share to be ready. */
const TIMEOUT_MS = 30_000;

/** Throws the `FrontdoorError` of the agent, or `unavailable` or `timeout` if no agent responds. */
export function callAgent<R extends AgentRequest>(
  socketPath: string,
  request: R,
  timeoutMs: number = TIMEOUT_MS,
): Promise<AgentResults[R['op']]> {
  const problem = checkSocketPath(socketPath, process.platform);
  if (problem !== undefined) return Promise.reject(new FrontdoorError('invalid', 'socket-path', problem));
  return new Promise((resolve, reject) => {
    const decoder = new LineDecoder(AGENT_SOCKET_MAX_ANSWER_BYTES);
    const socket = connect({ path: agentEndpoint(socketPath, process.platform) });
    const fail = (error: FrontdoorError): void => {
      clearTimeout(timer);
      socket.destroy();
      reject(error);
    };
    const timer = setTimeout(() => {
      fail(
        new FrontdoorError(
          'timeout',
          'agent-silent',
          `the agent at ${socketPath} did not respond within ${timeoutMs / 1_000} s`,
        ),
      );
    }, timeoutMs);
    socket.on('error', (error: NodeJS.ErrnoException) => fail(unreachable(socketPath, error)));
    socket.on('close', () => {
      fail(
        new FrontdoorError(
          'unavailable',
          'agent-closed',
          `the agent at ${socketPath} closed the connection without a response`,
        ),
      );
    });
    socket.on('data', (chunk: Buffer) => {
      const [line] = decoder.push(chunk);
      if (line === undefined) {
        if (decoder.overflowed) fail(unreadable(socketPath, 'its response is too long'));
        return;
      }
      const answer = checkAgentAnswer<R['op']>(request.op, line);
      if (typeof answer === 'string') fail(unreadable(socketPath, answer));
      else if (!answer.ok)
        fail(new FrontdoorError(answer.error.kind, answer.error.code, answer.error.message));
      else {
        clearTimeout(timer);
        socket.destroy();
        resolve(answer.result);
      }
    });
    socket.write(encodeAgentRequest(1, request));
  });
}

function unreadable(socketPath: string, problem: string): FrontdoorError {
  return new FrontdoorError(
    'badGateway',
    'agent-answer',
    `the program that listens at ${socketPath} is not an agent of this version: ${problem}`,
  );
}

function unreachable(socketPath: string, error: NodeJS.ErrnoException): FrontdoorError {
  const { code } = error;
  if (code === 'ENOENT' || code === 'ECONNREFUSED') {
    return new FrontdoorError(
      'unavailable',
      'no-agent',
      `no agent is running at ${socketPath}: start the demo with "npm start" in another terminal, or an agent with ` +
        '"frontdoor agent start"; --data-dir or --socket name an agent that runs elsewhere',
      { cause: error },
    );
  }
  if (code === 'EACCES' || code === 'EPERM') {
    return new FrontdoorError('forbidden', 'socket-access', `${socketPath} belongs to another user`, {
      cause: error,
    });
  }
  return new FrontdoorError(
    'unavailable',
    'no-agent',
    `cannot reach the agent at ${socketPath}: ${code ?? error.message}`,
    {
      cause: error,
    },
  );
}
