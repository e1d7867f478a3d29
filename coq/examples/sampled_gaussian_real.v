(* 3516*PoissonSubsample(Gaussian('11/10'), '8/1875')

   is (1.28114, 1e-5)-DP: at the order 11.95, by the improved conversion.
   Neighbours: add_remove.
   It rests on the theorems of papers that [published] in coq/Published.v lists, and on
   the axioms of Coq's real numbers and machine integers.
   Prove it with: make coq; coqc -w none -Q out/coq Symacct FILE *)

From Coq Require Import Reals Lra Lia List ZArith Permutation.
From Coquelicot Require Import Coquelicot.
From Symacct Require Import Evaluate.
Import ListNotations.
Open Scope R_scope.

Definition epsilon : R := (64057 / 50000).
Definition delta : R := (1 / 100000).
Definition alpha : R := (239 / 20).

Definition part_1 : mechanism := (PoissonSubsample (Gaussian (11 / 10) 1) (8 / 1875)).
Definition cost_1 : R := (773137 / 5000000000).

Lemma inner_1 :
  RInt (sampled_normal (1 / (11 / 10)) (8 / 1875) (239 / 20)) (- 7) 24 <= (1001694601 / 1000000000).
Proof.
  unfold sampled_normal.
  integral with (i_prec 53, i_degree 10, i_fuel 10000, i_relwidth 32).
Qed.

Lemma costs_1 : costs alpha part_1 cost_1.
Proof.
  unfold part_1, cost_1, alpha. cbn [costs]. 
  eapply integral_at_most_le;
    [| apply normal_integral with (L := 7) (U := 24) (inner := (1001694601 / 1000000000)); try lra; exact inner_1].
  evaluate 81%positive.
Qed.

Definition expression : mechanism :=
  (Times 3516 part_1).

(* Σ n ε(α) *)
Definition total : R := 3516 * cost_1.

Theorem numerical : costs alpha expression total /\ total + improved alpha delta <= epsilon.
Proof.
  split.
  - exact (costs_times _ 3516 _ _ costs_1).
  - unfold total, cost_1, alpha, epsilon, delta. evaluate 81%positive.
Qed.

Theorem guarantee rdp dp : published rdp dp -> dp expression epsilon delta.
Proof.
  intro papers. destruct numerical as [spending enough].
  apply (real_improved rdp dp papers alpha expression total); try assumption.
  - unfold alpha. lra.
  - unfold delta. lra.
  - unfold expression, part_1. in_range.
Qed.
