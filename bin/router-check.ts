/** `router check` and `router schema`: they load the file's schema and not the router, so that they are quick. */
import type { CliIo, RouterCheckCommandOptions } from '#cli';
import { checkRouterFile, routerSchemaText } from '#router/config';

export { routerSchemaText };

export function runRouterCheck(file: string, options: RouterCheckCommandOptions, io: CliIo): number {
  return checkRouterFile(file, options, io);
}
