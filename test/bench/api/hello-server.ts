// The yardstick: a bare Fastify that answers one small object. Its port is its first line.
import fastify from 'fastify';

const app = fastify({ logger: false });
app.get('/', async () => ({ hello: 'world' }));
const address = await app.listen({ host: '127.0.0.1', port: 0 });
process.stdout.write(`${new URL(address).port}\n`);
