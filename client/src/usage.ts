// Rows of the usage report in words. Pure.
import { S } from './strings.ts';

export type Usage = {
  uid: string; displayName?: string; email?: string; geminiCallCount: number; lastCallAt?: string;
  geminiInputTokens?: number; geminiOutputTokens?: number; geminiThoughtTokens?: number;
  geminiCachedTokens?: number; geminiTotalTokens?: number;
  costUsd?: number; unpricedTokens?: number;
};

const UID_CHARS = 8;

/** The display name, else the e-mail, else the first characters of the uid. */
export const whoOf = ({ displayName, email, uid }: Pick<Usage, 'displayName' | 'email' | 'uid'>): string =>
  displayName || email || S.userShort(uid.slice(0, UID_CHARS));

export const sum = (figures: readonly number[]): number => figures.reduce((total, figure) => total + figure, 0);

/** Counters written before tokens were counted have none at all, which is not zero. */
export function tokensOf({ geminiInputTokens: input, geminiOutputTokens: output, geminiThoughtTokens: thoughts }: Usage): string {
  return input === undefined && output === undefined && thoughts === undefined
    ? S.noTokens : S.tokens(input ?? 0, output ?? 0, thoughts ?? 0);
}

/** Dollars at list prices, '' where none are known. What has no price makes it a lower bound. */
export function costOf(rows: readonly Usage[]): string {
  const known = rows.filter((row) => row.costUsd !== undefined);
  return known.length === 0 ? ''
    : S.cost(sum(known.map((row) => row.costUsd!)), rows.some((row) => (row.unpricedTokens ?? 0) > 0));
}
