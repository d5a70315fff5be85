/** Sends one request to an agent's control socket, for tests. The command line has its own client. */
import { connect } from 'node:net';
import { FrontdoorError } from '#base';
import {
  AGENT_SOCKET_VERSION,
  checkAgentAnswer,
  LineDecoder,
  type AgentRequest,
  type AgentResults,
} from '#domain';

export function ask<R extends AgentRequest>(path: string, request: R): Promise<AgentResults[R['op']]> {
  return new Promise((resolve, reject) => {
    const decoder = new LineDecoder(16 * 1024 * 1024);
    const socket = connect({ path });
    socket.on('error', reject);
    socket.on('close', () => reject(new Error('closed without an answer')));
    socket.on('data', (chunk: Buffer) => {
      const [line] = decoder.push(chunk);
      if (line === undefined) return;
      const answer = checkAgentAnswer(JSON.parse(line));
      if (answer === undefined) reject(new Error(`not an answer: ${line}`));
      else if (answer.ok) resolve(answer.result as AgentResults[R['op']]);
      else reject(new FrontdoorError(answer.error.kind, answer.error.code, answer.error.message));
      socket.destroy();
    });
    socket.write(`${JSON.stringify({ v: AGENT_SOCKET_VERSION, id: 1, ...request })}\n`);
  });
}
