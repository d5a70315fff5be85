import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { PublicApp } from '../row.ts';

const SERVER = `
  import { GraphQLInt, GraphQLObjectType, GraphQLSchema, GraphQLString } from 'graphql';
  import { useServer } from 'graphql-ws/use/ws';
  import { WebSocketServer } from 'ws';
  async function* count() { for (let n = 1; n <= 3; n += 1) yield { count: n }; }
  const query = new GraphQLObjectType({ name: 'Query', fields: { hello: { type: GraphQLString, resolve: () => 'hello' } } });
  const subscription = new GraphQLObjectType({ name: 'Subscription', fields: { count: { type: GraphQLInt, subscribe: count } } });
  const server = new WebSocketServer({ host: '127.0.0.1', port: Number(process.argv[2]), path: '/graphql' });
  useServer({ schema: new GraphQLSchema({ query, subscription }) }, server);
`;

/** With the WebSocket of Node, which takes the proxy from the environment. */
const CLIENT = `
  import assert from 'node:assert/strict';
  import { createClient } from 'graphql-ws';
  const client = createClient({ url: process.argv[2], lazy: true, retryAttempts: 0 });
  const resultsOf = (query) => Array.fromAsync(client.iterate({ query }), ({ data }) => data);
  assert.deepEqual(JSON.parse(JSON.stringify(await resultsOf('{ hello }'))), [{ hello: 'hello' }]);
  const counted = await resultsOf('subscription { count }');
  assert.deepEqual(counted.map(({ count }) => count), [1, 2, 3]);
  await client.dispose();
`;

export const app: PublicApp = {
  name: 'graphql-ws',
  shows: 'a query and a subscription over a WebSocket with its subprotocol',
  npm: ['graphql@16.11.0', 'graphql-ws@6.0.6', 'ws@8.18.3'],
  program: ({ folder, port }) => {
    writeFileSync(join(folder, 'server.mjs'), SERVER);
    return { command: process.execPath, args: ['server.mjs', String(port)] };
  },
  check: async (share, { folder }) => {
    writeFileSync(join(folder, 'client.mjs'), CLIENT);
    await share.run(process.execPath, [join(folder, 'client.mjs'), `wss://${share.host}/graphql`]);
  },
};
