import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { PublicApp } from '../row.ts';

/** A form with its protection against requests of other sites, and a redirect to an absolute address. */
const SITE = `
import sys
from django.conf import settings
settings.configure(DEBUG=False, ALLOWED_HOSTS=['localhost'], ROOT_URLCONF=__name__, SECRET_KEY='x' * 50,
    MIDDLEWARE=['django.middleware.common.CommonMiddleware', 'django.middleware.csrf.CsrfViewMiddleware'])
from django.http import HttpResponse, HttpResponseRedirect
from django.middleware.csrf import get_token
from django.urls import path
def form(request):
    if request.method == 'POST':
        return HttpResponseRedirect(request.build_absolute_uri('/done'))
    return HttpResponse(get_token(request))
urlpatterns = [path('', form), path('done', lambda request: HttpResponse('done'))]
if __name__ == '__main__':
    from django.core.management import execute_from_command_line
    execute_from_command_line(sys.argv)
`;

export const app: PublicApp = {
  name: 'django',
  shows: 'a form with its CSRF protection and an absolute redirect, with --host-header localhost',
  needs: { python3: 'python3-venv' },
  pip: ['django==5.2.8'],
  program: ({ folder, port }) => {
    writeFileSync(join(folder, 'site.py'), SITE);
    const args = ['site.py', 'runserver', '--noreload', `127.0.0.1:${port}`];
    return { command: join(folder, 'python', 'bin', 'python'), args };
  },
  check: async (share) => {
    assert.equal((await share.ask('/')).status, 400);
    await share.change('--host-header', 'localhost');
    const form = await share.ask('/');
    assert.equal(form.status, 200);
    const cookie = String(form.headers['set-cookie']?.[0]).split(';')[0]!;
    const sent = {
      method: 'POST',
      headers: { cookie, origin: share.origin, 'content-type': 'application/x-www-form-urlencoded' },
      body: `csrfmiddlewaretoken=${form.text}`,
    };
    const done = await share.ask('/', sent);
    assert.equal(done.status, 302);
    assert.equal(done.headers.location, `${share.origin}/done`);
    const foreign = { ...sent, headers: { ...sent.headers, origin: 'https://evil.example' } };
    assert.equal((await share.ask('/', foreign)).status, 403);
  },
};
