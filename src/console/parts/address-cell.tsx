/** Addresses in a cell of a table: the first one, and the others behind a button. */
import { Popover, UnstyledButton } from '@mantine/core';
import type { ReactNode } from 'react';
import { useFormat, useText } from '../text/language.tsx';
import { CopyButton, CopyText } from './copy-text.tsx';
import { partsText } from './parts-text.ts';
import { shortAddress } from './short-address.ts';
import { tablesText } from './tables-text.ts';

/** `addresses`: of http and https; others are no links. */
export function AddressCell({
  addresses,
}: {
  readonly addresses: readonly [string, ...string[]];
}): ReactNode {
  const [first, ...others] = addresses;
  return (
    <span className="fd-addresses">
      <AddressText address={first} />
      <CopyButton value={first} />
      {others.length === 0 ? null : <FurtherAddresses addresses={others} />}
    </span>
  );
}

/** The address of a service, which an agent reaches, mostly over plain HTTP. */
export function TargetCell({ target }: { readonly target: string }): ReactNode {
  return (
    <span className="fd-mono" data-whole={target}>
      {shortAddress(target, 'http')}
    </span>
  );
}

function AddressText({ address }: { readonly address: string }): ReactNode {
  const text = useText(partsText);
  if (!/^https?:\/\//i.test(address)) return <span className="fd-mono">{address}</span>;
  return (
    <a
      className="fd-mono"
      data-whole={address}
      href={address}
      target="_blank"
      rel="noopener noreferrer"
      aria-label={`${text.openInTab}: ${address}`}
    >
      {shortAddress(address)}
    </a>
  );
}

function FurtherAddresses({ addresses }: { readonly addresses: readonly string[] }): ReactNode {
  const [text, format] = [useText(tablesText), useFormat()];
  const count = format.number(addresses.length);
  return (
    <Popover position="bottom-end" withinPortal trapFocus returnFocus transitionProps={{ duration: 0 }}>
      <Popover.Target>
        <UnstyledButton className="fd-more" aria-label={text.furtherAddresses(addresses.length, count)}>
          {text.moreAddresses(count)}
        </UnstyledButton>
      </Popover.Target>
      <Popover.Dropdown>
        <ul className="fd-plain">
          {addresses.map((address) => (
            <li key={address}>
              <CopyText value={address} href={address} />
            </li>
          ))}
        </ul>
      </Popover.Dropdown>
    </Popover>
  );
}
