/** Sends one request to an agent's control socket, for tests. The command line has its own client. */
import { connect } from 'node:net';
import { FrontdoorError } from '#base';
import { LineDecoder } from '#domain';
import {
  AGENT_SOCKET_MAX_ANSWER_BYTES,
  checkAgentAnswer,
  encodeAgentRequest,
  type AgentRequest,
  type AgentResults,
} from '#domain/agent-shapes';

export function ask<R extends AgentRequest>(path: string, request: R): Promise<AgentResults[R['op']]> {
  return new Promise((resolve, reject) => {
    const decoder = new LineDecoder(AGENT_SOCKET_MAX_ANSWER_BYTES);
    const socket = connect({ path });
    socket.on('error', reject);
    socket.on('close', () => reject(new Error('closed without an answer')));
    socket.on('data', (chunk: Buffer) => {
      const [line] = decoder.push(chunk);
      if (line === undefined) return;
      const answer = checkAgentAnswer<R['op']>(request.op, line);
      if (typeof answer === 'string') reject(new Error(answer));
      else if (answer.ok) resolve(answer.result);
      else reject(new FrontdoorError(answer.error.kind, answer.error.code, answer.error.message));
      socket.destroy();
    });
    socket.write(encodeAgentRequest(1, request));
  });
}
