/** A value with a button that copies it, and one that opens it if it is an address. */
import { ActionIcon, Tooltip } from '@mantine/core';
import { useState, type ReactNode } from 'react';
import { useText } from '../text/language.tsx';
import { Icon } from './icon.tsx';
import { partsText } from './parts-text.ts';

const SHOWN_MS = 2_000;

export function CopyButton({ value, label }: { readonly value: string; readonly label?: string }): ReactNode {
  const text = useText(partsText);
  const [isCopied, setCopied] = useState(false);
  const name = isCopied ? text.copied : (label ?? text.copy);
  const copy = async () => {
    await navigator.clipboard.writeText(value);
    setCopied(true);
    setTimeout(() => setCopied(false), SHOWN_MS);
  };
  return (
    <Tooltip label={name}>
      <ActionIcon
        variant="subtle"
        color="gray"
        aria-label={`${name}: ${value.slice(0, 80)}`}
        onClick={() => void copy()}
      >
        <Icon name={isCopied ? 'check' : 'copy'} />
      </ActionIcon>
    </Tooltip>
  );
}

/** `href`: only addresses of http and https become links, whatever the text is. */
export function CopyText({
  value,
  href,
}: {
  readonly value: string;
  readonly href?: string | undefined;
}): ReactNode {
  const text = useText(partsText);
  const safe = href !== undefined && /^https?:\/\//i.test(href) ? href : undefined;
  return (
    <span className="fd-copy">
      <span className="fd-mono">{value}</span>
      <CopyButton value={value} />
      {safe === undefined ? null : (
        <Tooltip label={text.openInTab}>
          <ActionIcon
            component="a"
            href={safe}
            target="_blank"
            rel="noopener noreferrer"
            variant="subtle"
            color="gray"
            aria-label={`${text.openInTab}: ${value}`}
          >
            <Icon name="open" />
          </ActionIcon>
        </Tooltip>
      )}
    </span>
  );
}
