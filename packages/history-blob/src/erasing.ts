/** Whose conversations are erased. */
export interface EraseFilter {
  /** `null` for the conversations without an owner. */
  readonly owner: string | null;
}

/** What was erased. */
export interface ErasedConversations {
  readonly conversations: number;
}
