/** The operation on frontends. */
import { listFrontends } from '../records/frontend-store.ts';
import { ok, type ApiParts, type Handlers } from './call.ts';

type FrontendParts = Pick<ApiParts, 'store' | 'frontendUrls'>;

export const frontendHandlers: Handlers<FrontendParts, 'listFrontends'> = {
  async listFrontends(parts) {
    const frontends = await listFrontends(parts.store.db);
    return ok(
      frontends.map(({ id, zone, publicName }) => ({
        id,
        urlTemplate: urlTemplate(parts, zone),
        publicName,
      })),
    );
  },
};

/** Returns the URL template under which gateways serve shares of the zone; the https one if there are several. */
function urlTemplate({ frontendUrls }: Pick<ApiParts, 'frontendUrls'>, zone: string): string {
  const host = `{token}.${zone}`;
  const urls = frontendUrls(host);
  return urls.find((url) => url.startsWith('https:')) ?? urls[0] ?? `https://${host}`;
}
