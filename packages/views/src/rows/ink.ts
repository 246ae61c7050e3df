/** What a piece of a line means, for a user interface with colours. */
export type Ink = 'position' | 'agent' | 'word' | 'strong' | 'dim' | 'bad' | 'notice' | 'added' | 'removed';
