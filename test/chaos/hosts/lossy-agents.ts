/** An installation with agents that a translator of addresses stands before, in a network namespace. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { AgentShareView, AgentStatusResult } from '#domain/agent-shapes';
import { ForgottenFlows } from '../../support/forgotten-flows.ts';
import type { PartProcess } from '../../support/part-process.ts';
import { startSeparate, type Separate } from '../../support/separate.ts';

export interface LossyAgent {
  readonly name: string;
  readonly part: PartProcess<AgentStatusResult>;
  readonly host: string;
}

export interface LossyWorld {
  readonly parts: Separate;
  readonly flows: ForgottenFlows;
  readonly agents: readonly LossyAgent[];
}

/** Resolves as `work` does, after everything has ended. */
export async function withLossyAgents<Result>(
  count: number,
  work: (world: LossyWorld) => Promise<Result>,
): Promise<Result> {
  const origin = createServer((_incoming, answer) => answer.setHeader('connection', 'close').end('here'));
  await new Promise<void>((resolve) => origin.listen(0, '127.0.0.1', resolve));
  const parts = await startSeparate();
  const flows = new ForgottenFlows(parts.router.ready.edgePort);
  const agents: LossyAgent[] = [];
  try {
    for (let number = 1; number <= count; number += 1)
      agents.push(await startAgent(parts, origin, `lossy-${number}`));
    return await work({ parts, flows, agents });
  } finally {
    flows.close();
    await Promise.all(agents.map(({ part }) => part.kill()));
    await parts.stop();
    origin.close();
  }
}

async function startAgent(parts: Separate, origin: Server, name: string): Promise<LossyAgent> {
  const { part, socket } = await parts.addAgent(name);
  const target = `http://127.0.0.1:${(origin.address() as AddressInfo).port}`;
  const text = await parts.run(
    ...['agent', 'share', 'public', target, '--name', name, '--socket', socket, '--json'],
  );
  const { endpoints } = JSON.parse(text) as AgentShareView;
  return { name, part, host: new URL(endpoints[0]!).hostname };
}
