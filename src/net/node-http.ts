/**
 * What the product takes of `node:http`. Not by an import: that fetches every name which the module has, and three of
 * them load undici, ninety modules that nothing here uses. ADR 0018.
 */
import process from 'node:process';

export const {
  Agent: HttpAgent,
  createServer: createHttpServer,
  request: httpRequest,
  STATUS_CODES,
} = process.getBuiltinModule('node:http');
