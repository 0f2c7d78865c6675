// The entry at the stable address: on to the folder of the current version, without a stop in the history.
declare const VERSION: string;

location.replace(`/web/${VERSION}/index.html${location.search}${location.hash}`);
