/**
 * The parts of `node:http` that the product uses. They are not imported statically, because that resolves every
 * export of the module, three of which load undici, ninety modules that nothing here uses. ADR 0018.
 */
import process from 'node:process';

export const {
  Agent: HttpAgent,
  createServer: createHttpServer,
  request: httpRequest,
  ServerResponse: HttpServerResponse,
  STATUS_CODES,
} = process.getBuiltinModule('node:http');
