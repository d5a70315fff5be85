/** The option for the addresses at which tunnelers of OpenZiti find private shares. */
import { InvalidArgumentError, Option } from 'commander';
import { isDomainName } from '#domain';

const NO_DOMAIN = 'none';

/** Its value is a domain in lower case, or empty for none. */
export function interceptDomain(): Option {
  return new Option(
    '--intercept-domain <domain>',
    `tunnelers and apps of OpenZiti find private shares as <share>.<domain>; "${NO_DOMAIN}" for none`,
  )
    .default('ziti')
    .argParser((text) => {
      if (text === NO_DOMAIN) return '';
      if (isDomainName(text)) return text.toLowerCase();
      throw new InvalidArgumentError('a domain such as ziti or ziti.example.com is needed.');
    });
}
