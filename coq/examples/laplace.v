(* 50*Laplace(20) + PureDP('1/10')

   is (1.72729, 1e-5)-DP: at the order 16.44, by the classic conversion.
   Neighbours: of either relation.
   It rests on the theorems of papers that [published] in coq/Published.v lists, and on
   the axioms of Coq's real numbers and machine integers.
   Prove it with: make coq; coqc -w none -Q out/coq Symacct FILE *)

From Coq Require Import Reals Lra Lia List ZArith Permutation.
From Coquelicot Require Import Coquelicot.
From Symacct Require Import Evaluate.
Import ListNotations.
Open Scope R_scope.

Definition epsilon : R := (172729 / 100000).
Definition delta : R := (1 / 100000).
Definition alpha : R := (411 / 25).

Definition part_1 : mechanism := (Laplace 20 1).
Definition cost_1 : R := (1841501 / 100000000).

Lemma costs_1 : costs alpha part_1 cost_1.
Proof.
  unfold part_1, cost_1, alpha. cbn [costs]. evaluate 78%positive.
Qed.

Definition part_2 : mechanism := (PureDP (1 / 10)).
Definition cost_2 : R := (3044137 / 50000000).

Lemma costs_2 : costs alpha part_2 cost_2.
Proof.
  unfold part_2, cost_2, alpha. cbn [costs]. evaluate 78%positive.
Qed.

Definition expression : mechanism :=
  (Compose (Times 50 part_1) part_2).

(* Σ n ε(α) *)
Definition total : R := 50 * cost_1 + (cost_2).

Theorem numerical : costs alpha expression total /\ total + classic alpha delta <= epsilon.
Proof.
  split.
  - exact (costs_compose _ _ _ _ _ (costs_times _ 50 _ _ costs_1) costs_2).
  - unfold total, cost_1, cost_2, alpha, epsilon, delta. evaluate 78%positive.
Qed.

Theorem guarantee rdp dp : published rdp dp -> dp expression epsilon delta.
Proof.
  intro papers. destruct numerical as [spending enough].
  apply (real_classic rdp dp papers alpha expression total); try assumption.
  - unfold alpha. lra.
  - unfold delta. lra.
  - unfold expression, part_1, part_2. in_range.
Qed.
