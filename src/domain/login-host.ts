/** The host of a zone that takes log-ins in: `app.example.com` → `oauth.example.com`. Domains of shares are in no zone. */
export function loginHostOf(host: string): string {
  return `oauth.${host.slice(host.indexOf('.') + 1)}`;
}
